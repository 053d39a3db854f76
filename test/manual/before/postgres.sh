# The file that moves to PostgreSQL, with a few contacts in it.
crm init --org "Acme Inc" --user ada@acme.example --db crm.db > file.key
crm serve --db crm.db --port 0 --log off 2> serving &
until grep -q '^Docs' serving; do sleep 0.05; done
URL=$(sed -n 's/^Docs *\(http.*\)\/docs/\1/p' serving)
for name in ada grace mary; do
  crm create contacts email=$name@example.com --url $URL --api-key-file file.key > /dev/null
done
kill $!
wait $! || true
