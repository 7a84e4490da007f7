/* words.c: a compiled extension without any library, to see that a program is all it takes.
 *
 *   count_words     a tool: the words and characters of a text
 *   tool_call       a hook that lets every call pass
 *
 * Install: cc -O2 -o ~/.e/extensions/words words.c
 *
 * e writes one compact JSON object a line, with `id`, `method` and `params` in this order. Replies
 * need no JSON library: they are fixed but for numbers. Requests are read with a scanner that knows
 * strings and nesting, because a text may contain anything, also what looks like a key.
 */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANIFEST \
    "{\"name\":\"words\",\"version\":\"1.0\",\"hooks\":[\"tool_call\"],\"events\":[]," \
    "\"tools\":[{\"name\":\"count_words\",\"description\":\"Count the words and characters of a text.\"," \
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}," \
    "\"label\":{\"category\":\"count\",\"running\":\"Counting\",\"completed\":\"Counted\"}}]}"

/* Behind the value at `at`. The input is JSON that e wrote; at its end the scan stops anyway. */
static const char *skip(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"') {
            for (at++; *at && *at != '"'; at++)
                if (*at == '\\' && at[1])
                    at++;
            if (!*at)
                return at;
            at++;
        } else if (*at == '{' || *at == '[') {
            depth++;
            at++;
        } else if (*at == '}' || *at == ']') {
            depth--;
            at++;
        } else if (*at) {
            at += strcspn(at, depth ? "\"{}[]" : ",}]");
        }
    } while (*at && depth > 0);
    return at;
}

/* The value of a key of the object at `at`, or NULL. */
static const char *value(const char *at, const char *key)
{
    size_t length = strlen(key);
    if (!at || *at != '{')
        return NULL;
    at++;
    while (*at == '"') {
        const char *name = at + 1, *rest = skip(at);
        if (*rest != ':')
            return NULL;
        at = rest + 1;
        if ((size_t)(rest - name) == length + 1 && !memcmp(name, key, length))
            return at;
        at = skip(at);
        if (*at == ',')
            at++;
    }
    return NULL;
}

/* Whether the value is this string. */
static int is(const char *at, const char *text)
{
    size_t length = strlen(text);
    return at && *at == '"' && !strncmp(at + 1, text, length) && at[length + 1] == '"';
}

/* Words and characters of the JSON string at `at`. */
static void count(const char *at, long *words, long *characters)
{
    int inside = 0;
    *words = *characters = 0;
    for (at++; *at && *at != '"'; at++) {
        int blank = isspace((unsigned char)*at);
        if (*at == '\\' && at[1]) {
            at++;
            blank = strchr("nrtfb", *at) != NULL;
            if (*at == 'u' && strlen(at) > 4) {
                unsigned long code = strtoul((char[]){at[1], at[2], at[3], at[4], 0}, NULL, 16);
                at += 4;
                if (code >= 0xdc00 && code < 0xe000)
                    continue; /* the second half of a pair */
            }
        } else if (((unsigned char)*at & 0xc0) == 0x80) {
            continue; /* not the first byte of a character */
        }
        ++*characters;
        *words += !blank && !inside;
        inside = !blank;
    }
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *id = value(line, "id"), *method = value(line, "method"), *params = value(line, "params");
        if (is(method, "shutdown"))
            break;
        if (!method || !id)
            continue;
        printf("{\"id\":%.*s,", (int)strcspn(id, ",}"), id);
        if (is(method, "initialize")) {
            puts("\"result\":" MANIFEST "}");
        } else if (is(method, "hook.tool_call")) {
            puts("\"result\":{\"block\":false}}");
        } else if (is(method, "tool_call") && value(value(params, "arguments"), "text")) {
            long words, characters;
            count(value(value(params, "arguments"), "text"), &words, &characters);
            printf("\"result\":{\"content\":\"%ld words, %ld characters\",", words, characters);
            printf("\"summary\":\"%ld words\"}}\n", words);
        } else {
            puts("\"error\":\"unknown request\"}");
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
