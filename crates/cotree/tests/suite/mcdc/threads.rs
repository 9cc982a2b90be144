//! No thread loses a vector: 64 threads make the same decision at once. As many times as `COTREE_DECISIONS` thousands.

use crate::project::{Project, succeed};

const SOURCE: &str = "#include <pthread.h>\n#include <stdlib.h>\nstatic long turns;\n\
    __attribute__((noinline)) static int gate(int a, int b, int c, int d) { return (a && b) || (c && d); }\n\
    static void *run(void *p) { long sum = 0;\n\
    for (long i = 0; i < turns; i++) sum += gate(i & 8, i & 4, i & 2, i & 1);\n\
    *(long *)p = sum; return p; }\n\
    int main(int n, char **v) { pthread_t t[64]; static long sums[64]; turns = atol(v[1]);\n\
    for (int i = 0; i < 64; i++) pthread_create(&t[i], 0, run, &sums[i]);\n\
    for (int i = 0; i < 64; i++) pthread_join(t[i], 0);\n\
    return n > 9; }\n";

#[test]
fn no_vector_is_lost() {
    let thousands: u64 = std::env::var("COTREE_DECISIONS").map_or(1, |count| count.parse().expect("a number"));
    // 64 threads; with 200, more than ten million in all.
    let turns = 16 * (50 * thousands);
    let project = Project::new(&[("p.c", SOURCE)]);
    project.ok("--coverage --mcdc cc -O2 -pthread p.c -o p");
    succeed(project.command(project.path("p")).arg(turns.to_string()).env("COTREE_FILE", "p.cotree"));
    let json: serde_json::Value = serde_json::from_str(&project.ok("coverage --json p.cotree")).expect("JSON");
    let vectors = json["files"][0]["decisions"][0]["vectors"].as_array().expect("vectors");
    let each = 64 * turns / 16;
    // Of sixteen values: by the conditions that are not evaluated.
    for (letters, share) in [("TT--", 4), ("F-F-", 4), ("F-TF", 2), ("F-TT", 2), ("TFF-", 2), ("TFTF", 1), ("TFTT", 1)]
    {
        let vector = vectors.iter().find(|vector| vector["conditions"] == letters).expect("the vector");
        assert_eq!(vector["count"].as_u64(), Some(share * each), "{letters}");
    }
}
