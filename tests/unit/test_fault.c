/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the library reads in the log of the ZooKeeper client. */
#include "unit.h"

#include "zk/fault.h"

#define HEAD "2026-11-28 02:45:48,496:3582(0x7fbd):ZOO_ERROR@f@1335: "
#define AT   HEAD "Socket 10.0.0.1:2181 zk retcode=-4, errno="

static const struct row {
    const char *name;
    const char *line;
    const char *server; /* "before:1": it names none */
    const char *text;
    enum zkr_cause cause;
} rows[] = {
    { "refused",
      AT "111(Connection refused): server refused to accept the client",
      "10.0.0.1:2181", "", ZKR_CAUSE_REFUSED },
    { "silent",
      AT "110(Connection timed out): connection to 10.0.0.1:2181 timed out "
         "(exceeded timeout by 0ms)",
      "10.0.0.1:2181", "", ZKR_CAUSE_SILENT },
    { "hung up",
      AT "112(Host is down): failed while receiving a server response",
      "10.0.0.1:2181", "", ZKR_CAUSE_HUNG_UP },
    { "reset", AT "104(Connection reset by peer): failed while receiving",
      "10.0.0.1:2181", "", ZKR_CAUSE_HUNG_UP },
    { "broken", AT "32(Broken pipe): failed while flushing send queue",
      "10.0.0.1:2181", "", ZKR_CAUSE_HUNG_UP },
    { "another error", AT "113(No route to host): connect() call failed",
      "10.0.0.1:2181", "No route to host", ZKR_CAUSE_UNREACHABLE },
    { "the end", AT "116(Stale file handle): sessionId=0x1 has expired.",
      "10.0.0.1:2181", "", ZKR_CAUSE_EXPIRED },
    { "no name", HEAD "getaddrinfo: Name or service not known\n", "before:1",
      "", ZKR_CAUSE_NAME },
    { "an expired certificate",
      AT "0(Success): error in ssl connect: certificate has expired",
      "10.0.0.1:2181", "", ZKR_CAUSE_CERTIFICATE_EXPIRED },
    { "the certificate of another",
      AT "0(Success): error in ssl connect: IP address mismatch",
      "10.0.0.1:2181", "", ZKR_CAUSE_CERTIFICATE_HOST },
    { "a handshake", AT "0(Success): error in ssl connect: unknown ca",
      "10.0.0.1:2181", "unknown ca", ZKR_CAUSE_TLS },
    { "a handshake, by Debian's client", AT "0(Success): error in ssl connect",
      "10.0.0.1:2181", "", ZKR_CAUSE_TLS },
    { "a password", HEAD "SASL authentication failed. rc=-115", "before:1", "",
      ZKR_CAUSE_CREDENTIALS },
    { "a login", AT "13(Permission denied): the login is refused (-115)",
      "10.0.0.1:2181", "", ZKR_CAUSE_CREDENTIALS },
    { "an attempt", HEAD "Initiated connection to server 10.0.0.2:2181",
      "10.0.0.2:2181", "", ZKR_CAUSE_NONE },
    { "none", HEAD "session establishment complete", "before:1", "",
      ZKR_CAUSE_NONE },
    { "cut", HEAD "Socket 10.0.0.1:2181", "before:1", "", ZKR_CAUSE_NONE },
};

/* Regression: why there was no connection stood in the log at most. */
TEST_ROWS(a_line_tells_of_a_fault, rows, row)
{
    struct zkr__zk_fault fault = { .server = "before:1" };

    assert_int_equal(zkr__fault_read(row->line, &fault),
                     row->cause != ZKR_CAUSE_NONE);
    assert_int_equal(fault.cause, row->cause);
    assert_string_equal(fault.server, row->server);
    assert_string_equal(fault.text, row->text);
}
