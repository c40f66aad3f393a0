/* SPDX-License-Identifier: Apache-2.0 */
/* How a server of the tests secures its connections: the files that it needs,
 * and the lines of its configuration. */
#include "security.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "spawn.h"

#define JAVA_DIR "/usr/share/java/"

enum server_security security_of_environment(void)
{
    const char *name = getenv("ZKR_TEST_SECURITY");

    if (name != NULL && strcmp(name, "tls") == 0)
        return SERVER_TLS;
    if (name != NULL && strcmp(name, "sasl") == 0)
        return SERVER_SASL;
    return SERVER_PLAIN;
}

/* All servers of a process have the same; the guard removes them at its end. */
const char *server_keys(void)
{
    static char dir[PATH_MAX];
    static struct guard guard;
    char *argv[] = { (char *)KEYS_SCRIPT, dir, NULL };

    if (dir[0] != '\0')
        return dir;
    if (guard_make(&guard, dir, sizeof(dir)) == 0 && spawn_run(argv, -1))
        return dir;
    (void)fprintf(stderr, "server: %s %s failed\n", KEYS_SCRIPT, dir);
    dir[0] = '\0';
    return NULL;
}

bool security_write_logins(const char *dir, const char *password)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/jaas.conf", dir);
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return false;
    (void)fprintf(file,
                  "Server {\n"
                  " org.apache.zookeeper.server.auth.DigestLoginModule "
                  "required user_%s=\"%s\";\n};\n",
                  SERVER_SASL_USER, password);
    return fclose(file) == 0;
}

bool security_prepare(enum server_security security, const char *dir)
{
    if (security == SERVER_TLS)
        return server_keys() != NULL;
    return security != SERVER_SASL ||
           security_write_logins(dir, SERVER_SASL_PASSWORD);
}

void security_write_config(enum server_security security, int secure_port,
                           FILE *config)
{
    if (security == SERVER_TLS)
        (void)fprintf(config,
                      "serverCnxnFactory=org.apache.zookeeper.server."
                      "NettyServerCnxnFactory\n"
                      "secureClientPort=%d\nsecureClientPortAddress=127.0.0.1\n"
                      "ssl.keyStore.location=%s/server.p12\n"
                      "ssl.keyStore.password=secret\n"
                      "ssl.trustStore.location=%s/trust.p12\n"
                      "ssl.trustStore.password=secret\n"
                      "ssl.clientAuth=need\n",
                      secure_port, server_keys(), server_keys());
    if (security == SERVER_SASL)
        (void)fprintf(config, "authProvider.sasl=org.apache.zookeeper.server."
                              "auth.SASLAuthenticationProvider\n");
}

const char *security_class_path(enum server_security security)
{
    return security != SERVER_TLS
               ? ""
               : ":" JAVA_DIR "netty-buffer.jar:" JAVA_DIR
                 "netty-codec.jar:" JAVA_DIR "netty-common.jar:" JAVA_DIR
                 "netty-handler.jar:" JAVA_DIR "netty-resolver.jar:" JAVA_DIR
                 "netty-transport.jar:" JAVA_DIR
                 "netty-transport-native-epoll.jar:" JAVA_DIR
                 "netty-transport-native-unix-common.jar";
}

/* One thread for all clients, for the reason that server.c gives. */
char *security_java_option(enum server_security security, const char *dir,
                           char *option, size_t size)
{
    if (security == SERVER_TLS)
        (void)snprintf(option, size, "-Dio.netty.eventLoopThreads=1");
    if (security == SERVER_SASL)
        (void)snprintf(option, size,
                       "-Djava.security.auth.login.config=%s/jaas.conf", dir);
    return security == SERVER_PLAIN ? NULL : option;
}
