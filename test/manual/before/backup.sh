# A database that is served cannot be replaced by a backup.
kill "$SERVER_PID"
while kill -0 "$SERVER_PID" 2> /dev/null; do sleep 0.05; done
