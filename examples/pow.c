/* Squares the multiples of 2 and of 3 up to 18: the example of Melski & Reps 1998, Fig. 4. */
double power(double base, long exp) {
    double power = 1.0;
    while (exp > 0) {
        power *= base;
        exp--;
    }
    return power;
}

int main(void) {
    double t, result = 0.0;
    int i = 1;
    while (i <= 18) {
        if (i % 2 == 0) {
            t = power(i, 2);
            result += t;
        }
        if (i % 3 == 0) {
            t = power(i, 2);
            result += t;
        }
        i++;
    }
    return 0;
}
