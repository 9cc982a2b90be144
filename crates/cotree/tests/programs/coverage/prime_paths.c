#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
static jmp_buf back;
static int classify(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (i % 3 == 1)
            continue;
        if (i > 7)
            break;
        sum += i % 2 ? i : -i;
    }
    return sum;
}
static int nested(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = i; k < n; k++)
            sum += k & 1 ? classify(k) : 1;
    return sum;
}
static int leaves(int n) {
    if (n > 3)
        longjmp(back, n);
    if (n == 3)
        exit(n);
    return n;
}
static int returns(int n) {
    int times = setjmp(back);
    while (times < n)
        times += leaves(times + 1);
    return times;
}
static int recursive(int n) {
    return n < 2 ? n : recursive(n - 1) + (n % 4 ? recursive(n - 2) : 0);
}
static int chosen(int n) {
    switch (n % 5) {
    case 0:
        return 1;
    case 1:
        n++;
    case 2:
        n += 2;
        break;
    default:
        n--;
    }
    return n;
}
static void *work(void *argument) {
    int n = *(int *)argument;
    int sum = nested(n);
    do
        sum += chosen(n);
    while (n-- > 0);
    return (void *)(long)sum;
}
int main(int count, char **words) {
    int n = count > 1 ? atoi(words[1]) : 0;
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, work, &n);
    pthread_join(thread, &result);
    printf("%d %d %d\n", (int)(long)result, recursive(n), returns(n > 5 ? 6 : 2));
    return 0;
}
