/* SPDX-License-Identifier: MIT
 *
 * Requests that Pyroscope and Parca take.
 * Runs in: launcher. */
#include "message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define NS UINT64_C(1000000000)
#define BOUNDARY "jprof-7d1c9f3e5a2b4860" /* not in gzip's bytes: checked */

/* Text and bytes that are put together. */
struct text {
    FILE *stream;
    char *bytes;
    size_t size;
};

static void open_text(struct text *text)
{
    text->stream = open_memstream(&text->bytes, &text->size);
    if (!text->stream)
        jr_no_memory();
}

static void close_text(struct text *text)
{
    if (fclose(text->stream) != 0)
        jr_no_memory();
}

/* For a query of a URL (RFC 3986, 2.3: the rest is as %XX). */
static void put_query(FILE *out, const char *text)
{
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;

        if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
            (byte >= '0' && byte <= '9') || strchr("-._~", byte))
            fputc(byte, out);
        else
            fprintf(out, "%%%02X", byte);
    }
}

/* RFC 4648, 4. */
static void put_base64(FILE *out, const uint8_t *data, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t bits = (uint32_t)data[i] << 16 |
                              (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                              (left > 2 ? data[i + 2] : 0);

        fputc(letters[bits >> 18], out);
        fputc(letters[bits >> 12 & 63], out);
        fputc(left > 1 ? letters[bits >> 6 & 63] : '=', out);
        fputc(left > 2 ? letters[bits & 63] : '=', out);
    }
}

/* The program's name as a service's: what labels cannot have becomes _. */
static char *service_of(const struct jl_destination *to, const char *program)
{
    char *name = jr_strdup(to->name ? to->name : program);

    for (char *at = name; !to->name && *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
              (*at >= '0' && *at <= '9') || strchr("._+-", *at)))
            *at = '_';
    if (*name)
        return name;
    free(name);
    return jr_strdup("jprof");
}

/* Whether the body of a part has the boundary in it, which ends it. */
static int has_boundary(const struct jl_part *part, const char *boundary)
{
    return memmem(part->data, part->size, boundary, strlen(boundary)) != NULL;
}

/* A form with the profile and what its type of samples is: real time is none
 * that Pyroscope knows (grafana/pyroscope pkg/og/convert/pprof/profile.go). */
static void put_form(struct jl_message *message, const struct jl_part *part)
{
    char *boundary = jr_strdup(BOUNDARY);
    struct text body;

    for (unsigned i = 0; has_boundary(part, boundary); i++) {
        free(boundary);
        boundary = jr_printf(BOUNDARY "%u", i);
    }
    open_text(&body);
    fprintf(body.stream,
            "--%s\r\nContent-Disposition: form-data; "
            "name=\"sample_type_config\"; "
            "filename=\"sample_type_config.json\"\r\n"
            "Content-Type: application/json\r\n\r\n"
            "{\"%s\":{\"units\":\"nanoseconds\",\"display-name\":\"%s\","
            "\"aggregation\":\"sum\",\"sampled\":true}}\r\n",
            boundary, part->type, part->type);
    fprintf(body.stream,
            "--%s\r\nContent-Disposition: form-data; name=\"profile\"; "
            "filename=\"profile.pprof\"\r\n"
            "Content-Type: application/octet-stream\r\n\r\n",
            boundary);
    fwrite(part->data, 1, part->size, body.stream);
    fprintf(body.stream, "\r\n--%s--\r\n", boundary);
    close_text(&body);
    message->type = jr_printf("multipart/form-data; boundary=%s", boundary);
    message->body = (uint8_t *)body.bytes;
    message->size = body.size;
    free(boundary);
}

/* grafana/pyroscope docs/sources/reference-server-api: POST /ingest. */
static void make_pyroscope(struct jl_message *message,
                           const struct jl_destination *to, const char *service,
                           const struct jl_part *part)
{
    const int is_known = strcmp(part->type, "cpu") == 0;
    struct text name, path;

    open_text(&name);
    fprintf(name.stream, "%s{", service);
    for (size_t i = 0; i < to->nlabels; i++)
        fprintf(name.stream, "%s%s=%s", i ? "," : "", to->labels[i].key,
                to->labels[i].value);
    fputc('}', name.stream);
    close_text(&name);
    open_text(&path);
    fputs("/ingest?name=", path.stream);
    put_query(path.stream, name.bytes);
    fprintf(path.stream, "&from=%" PRIu64 "&until=%" PRIu64 "&spyName=jprof%s",
            part->from_ns / NS, part->until_ns / NS + 1,
            is_known ? "&format=pprof" : "");
    close_text(&path);
    free(name.bytes);
    message->path = path.bytes;
    if (!is_known) {
        put_form(message, part);
        return;
    }
    message->type = jr_strdup("application/octet-stream");
    message->size = part->size;
    message->body = jr_alloc(part->size, 1);
    memcpy(message->body, part->data, part->size);
}

static void put_parca_label(FILE *out, const char *key, const char *value)
{
    fprintf(out, ",{\"name\":\"%s\",\"value\":\"%s\"}", key, value);
}

/* parca-dev/parca proto/parca/profilestore/v1alpha1/profilestore.proto,
 * WriteRawRequest as JSON.  No text in it needs a backslash (destination.c,
 * service_of). */
static void make_parca(struct jl_message *message,
                       const struct jl_destination *to, const char *service,
                       const struct jl_part *part)
{
    struct text body;
    int has_service = 0;

    open_text(&body);
    fprintf(body.stream,
            "{\"series\":[{\"labels\":{\"labels\":[{\"name\":\"__name__\","
            "\"value\":\"%s\"}",
            strcmp(part->type, "cpu") == 0 ? "process_cpu" : part->type);
    for (size_t i = 0; i < to->nlabels; i++) {
        has_service |= strcmp(to->labels[i].key, "service_name") == 0;
        put_parca_label(body.stream, to->labels[i].key, to->labels[i].value);
    }
    if (!has_service)
        put_parca_label(body.stream, "service_name", service);
    fputs("]},\"samples\":[{\"rawProfile\":\"", body.stream);
    put_base64(body.stream, part->data, part->size);
    fputs("\"}]}]}", body.stream);
    close_text(&body);
    message->path = jr_strdup("/api/profiles/writeraw");
    message->type = jr_strdup("application/json");
    message->body = (uint8_t *)body.bytes;
    message->size = body.size;
}

void jl_message_make(struct jl_message *message,
                     const struct jl_destination *to, const char *program,
                     const struct jl_part *part)
{
    char *service = service_of(to, program);

    if (to->server == JL_PARCA)
        make_parca(message, to, service, part);
    else
        make_pyroscope(message, to, service, part);
    free(service);
}

void jl_message_free(struct jl_message *message)
{
    free(message->path);
    free(message->type);
    free(message->body);
}
