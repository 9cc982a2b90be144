// Waiting until other threads wait: a sleep of some length is too short on a busy machine.
#pragma once
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Comes back when so many other threads of the process sleep in the kernel.
static inline void until_asleep(int threads) {
    for (int asleep = -1; asleep < threads; usleep(1000)) {
        DIR *tasks = opendir("/proc/self/task");
        asleep = 0;
        for (struct dirent *task; tasks && (task = readdir(tasks));) {
            char name[300], text[300];
            snprintf(name, sizeof name, "/proc/self/task/%s/stat", task->d_name);
            FILE *stat = fopen(name, "r");
            if (!stat) continue;
            const char *state = fgets(text, sizeof text, stat) ? strrchr(text, ')') : 0;
            asleep += state && state[2] == 'S';
            fclose(stat);
        }
        if (tasks) closedir(tasks);
    }
}
