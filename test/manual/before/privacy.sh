# Records that have to do with Ada, and some that have to do with others too.
first() { tail -1 | cut -d, -f1; }
ADA=$(crm create contacts email=ada@example.com first_name=Ada last_name=Lovelace -o csv | first)
crm create contacts email=grace@example.com remarks='Introduced by ada@example.com' > /dev/null
crm create deals name='Difference engine' point_of_contact_id=$ADA > /dev/null
crm create tasks name='Send the papers' person_id=$ADA > /dev/null
crm create interactions type=EMAIL direction=OUTBOUND title='First mail' main_contact=$ADA > /dev/null
NOTE=$(crm create notes title='Plans' content='Ada wants a second engine.' -o csv | first)
crm link notes/$NOTE/records $ADA record_type=contact > /dev/null
