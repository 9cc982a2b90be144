// Runs SQL against SQLite: a schema with indexes, a trigger and a view, many inserts, joins, aggregates, window functions,
// recursion, a rollback, and statements that fail.
//
//     sqlite_driver ROWS DATABASE      (DATABASE may be :memory:)
//
// Nothing of the output depends on time, addresses or chance.
#include <stdio.h>
#include <stdlib.h>
#include "sqlite3.h"

static unsigned long long checksum = 1469598103934665603ULL;

static void note(const char *text) {
    for (; *text; text++) {
        checksum = (checksum ^ (unsigned char)*text) * 1099511628211ULL;
    }
}

static int print_row(void *first, int columns, char **values, char **names) {
    int *left = first;
    for (int i = 0; i < columns; i++) {
        const char *value = values[i] ? values[i] : "NULL";
        note(value);
        if (*left > 0) printf("%s%s=%s", i ? " " : "  ", names[i], value);
    }
    if (*left > 0) putchar('\n');
    --*left;
    return 0;
}

static void run(sqlite3 *db, const char *sql) {
    int rows = 3;
    char *message = NULL;
    printf("> %s\n", sql);
    if (sqlite3_exec(db, sql, print_row, &rows, &message) != SQLITE_OK) {
        printf("  error %d: %s\n", sqlite3_extended_errcode(db), message);
        sqlite3_free(message);
    }
    if (rows < 0) printf("  and %d more rows\n", -rows);
}

static void insert(sqlite3 *db, int rows) {
    sqlite3_stmt *order = NULL;
    sqlite3_prepare_v2(db, "INSERT INTO orders(customer, amount, note) VALUES(?1, ?2, ?3)", -1, &order, NULL);
    unsigned state = 12345;
    run(db, "BEGIN");
    for (int i = 0; i < rows; i++) {
        char text[64];
        state = state * 1103515245u + 12345u;
        snprintf(text, sizeof text, "order %d of %u", i, state >> 16);
        sqlite3_bind_int(order, 1, (int)((state >> 8) % 1000));
        sqlite3_bind_double(order, 2, (state >> 12) % 10000 / 100.0);
        sqlite3_bind_text(order, 3, text, -1, SQLITE_TRANSIENT);
        if (sqlite3_step(order) != SQLITE_DONE) printf("  error: %s\n", sqlite3_errmsg(db));
        sqlite3_reset(order);
    }
    run(db, "COMMIT");
    sqlite3_finalize(order);
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    sqlite3 *db = NULL;
    if (sqlite3_open(argv[2], &db) != SQLITE_OK) {
        fprintf(stderr, "can't open %s: %s\n", argv[2], sqlite3_errmsg(db));
        return 1;
    }
    run(db, "PRAGMA foreign_keys = ON");
    run(db, "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, city TEXT)");
    run(db, "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers(id),"
            " amount REAL CHECK(amount >= 0), note TEXT)");
    run(db, "CREATE TABLE log(what TEXT)");
    run(db, "CREATE INDEX orders_by_customer ON orders(customer, amount)");
    run(db, "CREATE TRIGGER large AFTER INSERT ON orders WHEN new.amount > 99.9"
            " BEGIN INSERT INTO log VALUES('large ' || new.id); END");
    run(db, "CREATE VIEW totals AS SELECT customer, count(*) n, sum(amount) total FROM orders GROUP BY customer");
    run(db, "WITH RECURSIVE ids(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM ids WHERE i < 999)"
            " INSERT INTO customers SELECT i, printf('customer %04d', i), 'city ' || (i % 17) FROM ids");
    insert(db, atoi(argv[1]));
    run(db, "SELECT count(*), round(sum(amount), 2), min(amount), max(amount) FROM orders");
    run(db, "SELECT city, count(*) n, round(avg(total), 3) FROM customers JOIN totals ON id = customer"
            " GROUP BY city HAVING n > 10 ORDER BY n DESC, city");
    run(db, "SELECT c.name, o.id, o.amount FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.amount > 99"
            " ORDER BY o.amount DESC, o.id LIMIT 200");
    run(db, "SELECT id, rank() OVER (PARTITION BY customer ORDER BY amount DESC) r FROM orders WHERE customer < 20"
            " ORDER BY r DESC, id LIMIT 50");
    run(db, "SELECT substr(note, 1, 8) p, count(DISTINCT customer) FROM orders WHERE note LIKE '%7 of 1%'"
            " GROUP BY p ORDER BY 2 DESC, 1");
    run(db, "SELECT upper(name), replace(city, 'city', 'town'), length(hex(name)) FROM customers"
            " WHERE id IN (SELECT customer FROM orders WHERE amount BETWEEN 50 AND 50.05) ORDER BY id");
    run(db, "UPDATE orders SET amount = amount * 1.1 WHERE customer % 7 = 3");
    run(db, "DELETE FROM orders WHERE id % 11 = 5");
    run(db, "SELECT count(*), max(what) FROM log");
    run(db, "EXPLAIN QUERY PLAN SELECT * FROM totals WHERE total > 100 ORDER BY n");
    run(db, "INSERT INTO customers VALUES(1, 'somebody', NULL)");
    run(db, "INSERT INTO orders(customer, amount) VALUES(123456, 1)");
    run(db, "INSERT INTO orders(customer, amount) VALUES(1, -1)");
    run(db, "SELEC nonsense");
    run(db, "SELECT * FROM nowhere");
    run(db, "SAVEPOINT s; DELETE FROM orders; ROLLBACK TO s; RELEASE s");
    run(db, "SELECT json_group_array(city) FROM (SELECT DISTINCT city FROM customers ORDER BY city LIMIT 5)");
    run(db, "VACUUM");
    run(db, "PRAGMA integrity_check");
    run(db, "SELECT count(*), round(sum(amount), 2) FROM orders");
    if (sqlite3_close(db) != SQLITE_OK) return 1;
    printf("checksum %016llx\n", checksum);
    return 3;  // an unusual status must survive, too
}
