int square(int);
int cells[1000];
int theirs(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) cells[i] = i ^ n;
    for (int i = 0; i < n; i += 100) sum += square(cells[i]);
    return sum;
}
