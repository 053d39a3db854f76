#!/bin/sh
# Creates crm's role and database on a new server. Run it as a superuser, with the role's password in CRM_PASSWORD.
psql -v ON_ERROR_STOP=1 -v password="$CRM_PASSWORD" -U "${POSTGRES_USER:-postgres}" -d postgres <<'SQL'
CREATE ROLE crm LOGIN PASSWORD :'password';
CREATE DATABASE crm OWNER crm ENCODING 'UTF8' TEMPLATE template0;
SQL
