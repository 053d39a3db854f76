#!/bin/sh
# Makes the role and the database of crm on a new server: run as a superuser, with the role's password in CRM_PASSWORD.
psql -v ON_ERROR_STOP=1 -v password="$CRM_PASSWORD" -U "${POSTGRES_USER:-postgres}" -d postgres <<'SQL'
CREATE ROLE crm LOGIN PASSWORD :'password';
CREATE DATABASE crm OWNER crm ENCODING 'UTF8' TEMPLATE template0;
SQL
