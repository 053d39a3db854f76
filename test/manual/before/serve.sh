# The page starts the server itself.
kill "$SERVER_PID"
while kill -0 "$SERVER_PID" 2> /dev/null; do sleep 0.05; done
