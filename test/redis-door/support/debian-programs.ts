import { spawnSync } from 'node:child_process'

/** Why tests of the programs of Debian's redis-tools are skipped; false if they are there. */
export const noRedisTools: string | false = ['redis-cli', 'redis-benchmark'].every(
  (program) => spawnSync(program, ['--version']).status === 0,
)
  ? false
  : 'redis-cli and redis-benchmark are not installed: apt-get install redis-tools'

/** A Python that has the module redis: the first one of PATH may be another than Debian's. */
export const pythonWithRedis: string | undefined = ['python3', '/usr/bin/python3'].find(
  (python) => spawnSync(python, ['-c', 'import redis']).status === 0,
)

/** Why tests of it are skipped; false if it is there. */
export const noPythonRedis: string | false =
  pythonWithRedis === undefined ? 'the module redis of Python is not installed: apt-get install python3-redis' : false
