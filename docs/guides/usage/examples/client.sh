#!/bin/sh
# A client of `e rpc` for a shell with jq: client.sh [e] [prompt]
#
# Two named pipes make the pair: requests go in by one, lines come out of the other. The reply is
# printed as it streams; a turn that fails gives status 1.
set -eu
e=${1:-e}
[ $# -gt 0 ] && shift
prompt=${*:-hello from the shell}

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkfifo "$dir/in" "$dir/out"
"$e" rpc --trust --model offline/echo <"$dir/in" >"$dir/out" &
exec 3>"$dir/in" 4<"$dir/out"

# Sends one request: id, method, parameters as JSON.
request() {
    jq -cn --arg id "$1" --arg method "$2" --argjson params "$3" \
        '{id: $id, method: $method, params: $params}' >&3
}

# Reads up to the response with an id; events on the way are printed.
response() {
    while IFS= read -r line <&4; do
        if printf '%s' "$line" | jq -e 'has("type")' >/dev/null; then
            printf '%s' "$line" | jq -rj 'select(.type == "text").delta'
        elif printf '%s' "$line" | jq -e --arg id "$1" '.id == $id' >/dev/null; then
            printf '%s' "$line" | jq -c 'if has("error") then error(.error) else .result end' >"$dir/result"
            return
        fi
    done
    echo "e has ended" >&2
    return 1
}

request create session.create '{}'
response create
session=$(jq -r .session "$dir/result")
request prompt session.prompt "$(jq -cn --arg session "$session" --arg prompt "$prompt" \
    '{session: $session, prompt: $prompt}')"
response prompt
echo
jq -r '"tokens: \(.usage.output_tokens) error: \(.error)"' "$dir/result" >&2
status=$(jq 'if .error == null then 0 else 1 end' "$dir/result")
exec 3>&-
wait
exit "$status"
