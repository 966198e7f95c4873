/**
 * Runs the public test suite of the array API standard against the arrays of this package:
 *
 *     git clone --recurse-submodules https://github.com/data-apis/array-api-tests /tmp/array-api-tests
 *     pip install hypothesis ndindex pytest
 *     npm run build && node scripts/array-api.mjs /tmp/array-api-tests [--max-examples N] [-k sort] [FILES]
 *
 * What follows the path goes to pytest. Tests in array-api/skips.txt are left out; each line there has its reason.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

const [suite, ...given] = process.argv.slice(2)
if (suite === undefined || !existsSync(join(suite, 'array_api_tests'))) {
  process.stderr.write(
    'usage: node scripts/array-api.mjs PATH [arguments of pytest]: PATH is a clone of array-api-tests\n',
  )
  process.exit(2)
}

const bridge = fileURLToPath(new URL('array-api/', import.meta.url))
const files = given.some((word) => word.includes('array_api_tests')) ? [] : ['array_api_tests']
const words = ['-m', 'pytest', '-p', 'pytest_jsonreport', '-p', 'no:cacheprovider', '--disable-deadline', '-q', '-rfE']
const { status, error } = spawnSync(
  process.env.AETHER_PYTHON ?? 'python3',
  [...words, '--skips-file', join(bridge, 'skips.txt'), ...given, ...files],
  {
    cwd: suite,
    stdio: 'inherit',
    env: {
      ...process.env,
      PYTHONPATH: [bridge, process.env.PYTHONPATH].filter(Boolean).join(':'),
      ARRAY_API_TESTS_MODULE: 'aether_arrays',
      ARRAY_API_TESTS_VERSION: '2025.12',
    },
  },
)
if (error !== undefined) throw error
process.exit(status ?? 1)
