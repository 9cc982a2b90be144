// cotree_dump and cotree_reset.
#include "unit.h"
#include "cotree.h"
NOINLINE int work(void) {
    SITE("first");
    BUMP(1);
    if (cotree_dump("named.cotree") != 0) return 1;
    cotree_reset();
    BUMP(2);
    if (cotree_dump(NULL) != 0) return 2;
    return 0;
}
int main(void) {
    BUMP(0);
    if (work() != 0) return 1;
    BUMP(3);
    return cotree_dump("/no/such/folder/x") != -1;
}
