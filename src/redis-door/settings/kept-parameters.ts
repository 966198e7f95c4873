import { flag, memory, memoryOrPercent, type Parameter, text, whole } from './parameter.ts'

const MAX = Number.MAX_SAFE_INTEGER

/**
 * Settings of Redis that change nothing here. They are taken and kept, since clients and test suites set them.
 * They are about encodings that the index does not have, and how Redis expires, evicts, saves and replicates.
 */
export function keptParameters(): readonly Parameter[] {
  return [
    ...encodings('hash', 512, 64),
    ...encodings('zset', 128, 64),
    whole('list-max-listpack-size', -2, -(2 ** 31), 2 ** 31 - 1),
    whole('list-max-ziplist-size', -2, -(2 ** 31), 2 ** 31 - 1),
    whole('list-compress-depth', 0, 0, 2 ** 31 - 1),
    whole('set-max-intset-entries', 512, 0, MAX),
    whole('set-max-listpack-entries', 128, 0, MAX),
    whole('set-max-listpack-value', 64, 0, MAX),
    whole('hll-sparse-max-bytes', 3000, 0, MAX),
    memory('stream-node-max-bytes', 4096),
    whole('stream-node-max-entries', 100, 0, MAX),
    flag('activerehashing', 'yes'),
    flag('activedefrag', 'no'),
    whole('active-expire-effort', 1, 1, 10),
    whole('hz', 10, 1, 500),
    flag('dynamic-hz', 'yes'),
    whole('lfu-log-factor', 10, 0, 2 ** 31 - 1),
    whole('lfu-decay-time', 1, 0, 2 ** 31 - 1),
    whole('maxmemory-eviction-tenacity', 10, 0, 100),
    ...['eviction', 'expire', 'server-del', 'user-del', 'user-flush'].map((name) =>
      flag(`lazyfree-lazy-${name}`, 'no'),
    ),
    flag('no-appendfsync-on-rewrite', 'no'),
    flag('aof-use-rdb-preamble', 'yes'),
    whole('auto-aof-rewrite-percentage', 100, 0, 2 ** 31 - 1),
    memory('auto-aof-rewrite-min-size', 64 * 2 ** 20),
    flag('stop-writes-on-bgsave-error', 'yes'),
    flag('rdbcompression', 'yes'),
    flag('rdbchecksum', 'yes'),
    text('sanitize-dump-payload', 'no'),
    whole('min-replicas-to-write', 0, 0, 2 ** 31 - 1),
    whole('min-slaves-to-write', 0, 0, 2 ** 31 - 1),
    whole('min-replicas-max-lag', 10, 0, 2 ** 31 - 1),
    memory('repl-backlog-size', 2 ** 20, 1),
    whole('repl-timeout', 60, 1, 2 ** 31 - 1),
    flag('repl-diskless-sync', 'yes'),
    whole('repl-diskless-sync-delay', 5, 0, 2 ** 31 - 1),
    flag('replica-serve-stale-data', 'yes'),
    flag('replica-read-only', 'yes'),
    text('loglevel', 'notice'),
    flag('crash-log-enabled', 'yes'),
    whole('busy-reply-threshold', 5000, 0, MAX),
    whole('lua-time-limit', 5000, 0, MAX),
    memoryOrPercent('maxmemory-clients', 0),
    whole('shutdown-timeout', 10, 0, 2 ** 31 - 1),
  ]
}

function encodings(name: string, entries: number, bytes: number): readonly Parameter[] {
  return ['listpack', 'ziplist'].flatMap((encoding) => [
    whole(`${name}-max-${encoding}-entries`, entries, 0, MAX),
    memory(`${name}-max-${encoding}-value`, bytes),
  ])
}
