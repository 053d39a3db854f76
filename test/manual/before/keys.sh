# Records that the keys of the page can open.
crm create contacts email=ada@example.com first_name=Ada > /dev/null
crm create contacts email=grace@example.com first_name=Grace > /dev/null
crm create deals name='Difference engine' > /dev/null
