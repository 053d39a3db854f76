# Contacts for an assistant to count.
crm create contacts email=ada@example.com first_name=Ada > /dev/null
crm create contacts email=grace@example.com first_name=Grace > /dev/null
