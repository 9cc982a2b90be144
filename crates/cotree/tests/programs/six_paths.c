// The example of Ball & Larus 1996: six paths from A to F. An argument like `112` takes path 1 twice, then path 2.
int marks;
#define AT(block) (marks += (block))

static void six(int b, int straight, int e) {
  AT(1);
  if (b) {
    AT(2);
    if (straight)
      goto d;
  }
  AT(3);
d:
  AT(4);
  if (e)
    AT(5);
  AT(6);
}

// How was the loop reached? By `left`, or else by the other way.
static void turns(int left, int count) {
  if (left)
    AT(7);
  else
    AT(8);
  for (int i = 0; i < count; i++) {
    if (i & 1)
      AT(9);
    else
      AT(10);
  }
}

int main(int argc, char **argv) {
  for (char *which = argc > 1 ? argv[1] : ""; *which; which++) {
    int path = *which - '1';
    six(path % 3 > 0, path % 3 > 1, path / 3);
  }
  turns(1, 4);
  turns(0, 3);
  return 0;
}
