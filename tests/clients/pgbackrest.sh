#!/bin/sh
# pgBackRest: full and incremental backup of a new PostgreSQL, restore, expiry. Argument: a folder
# with example.conf, in which everything is created. Not as root: PostgreSQL refuses it.
set -eu
folder=$1
data=$folder/pg/data
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
backrest="pgbackrest --config=$folder/pg/pgbackrest.conf --stanza=main"

mkdir -p "$data" "$folder/pg/log" "$folder/pg/lock"
{
  cat "$folder/example.conf"
  printf 'repo1-retention-full=1\nstart-fast=y\nlog-path=%s\nlock-path=%s\n' \
    "$folder/pg/log" "$folder/pg/lock"
  printf '[main]\npg1-path=%s\npg1-socket-path=%s\n' "$data" "$folder/pg"
} >"$folder/pg/pgbackrest.conf"

"$bin/initdb" -D "$data" -A trust >/dev/null
{
  printf "listen_addresses=''\nunix_socket_directories='%s'\n" "$folder/pg"
  printf "archive_mode=on\narchive_command='%s archive-push %%p'\n" "$backrest"
} >>"$data/postgresql.conf"
start() { "$bin/pg_ctl" -D "$data" -l "$folder/pg/log/postgres.log" -w start >/dev/null; }
stop() { "$bin/pg_ctl" -D "$data" -w -m immediate stop >/dev/null 2>&1 || true; }
sql() { psql -h "$folder/pg" -d postgres -qAtc "$1"; }

trap stop EXIT
start
$backrest stanza-create
$backrest check
$backrest backup --type=full
sql 'create table numbers as select generate_series(1, 100000) n'
$backrest backup --type=incr
"$bin/pg_ctl" -D "$data" -w -m fast stop >/dev/null
rm -rf "${data:?}"/*
$backrest restore
start
test "$(sql 'select count(*) from numbers')" = 100000
$backrest backup --type=full
$backrest expire
