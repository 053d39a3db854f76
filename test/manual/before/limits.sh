# The page uses up the limit of one minute: it must not end in between.
second=$(date +%-S)
if [ "$second" -gt 45 ]; then sleep $((61 - second)); fi
