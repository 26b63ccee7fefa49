#!/bin/sh
# The part of the public image of PostgreSQL that compose.yaml uses.
set -eu
bin=$(echo /usr/lib/postgresql/*/bin)
data=/var/lib/postgresql/data-of-test
if [ ! -e "$data/PG_VERSION" ]; then
  "$bin/initdb" --pgdata "$data" --username "$POSTGRES_USER" --auth trust > /dev/null
  echo "host all all all trust" >> "$data/pg_hba.conf"
  "$bin/pg_ctl" --pgdata "$data" --wait --options "-c listen_addresses=" start
  "$bin/createdb" --username "$POSTGRES_USER" --maintenance-db postgres "$POSTGRES_DB"
  "$bin/pg_ctl" --pgdata "$data" --wait stop
fi
exec "$bin/postgres" -D "$data" -c listen_addresses='*'
