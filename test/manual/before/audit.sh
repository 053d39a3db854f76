# A record was deleted.
ID=$(crm create contacts email=ada@example.com -o csv | tail -1 | cut -d, -f1)
SYNC=$(crm keys issue --org "Acme Inc" --scopes contacts:read,contacts:delete --name sync)
CRM_API_KEY=$SYNC crm delete contacts $ID --yes 2> /dev/null
