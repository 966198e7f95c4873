/** Debian's packages for the guests: apt with lists and caches of its own. Nothing on this machine changes by it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTool } from './requirements.mjs'

/** In this order; the first that has what is wanted gives it. */
export const SUITES = ['bookworm-backports', 'trixie']
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const DOWNLOAD_TIMEOUT_MS = 600_000

/**
 * Calls `use(apt, suite)` with one suite after the other, until it does not throw, and returns what it returned.
 * `apt(tool, ...words)` runs in `work`, and returns what the tool printed.
 */
export function fromSuites(work, use) {
  if (!existsSync(KEYRING)) {
    throw new Error(
      `${KEYRING} is missing; apt-get install debian-archive-keyring, so that the packages can be verified`,
    )
  }
  mkdirSync(join(work, 'state/lists/partial'), { recursive: true })
  mkdirSync(join(work, 'cache/archives/partial'), { recursive: true })
  const problems = []
  for (const suite of SUITES) {
    try {
      return use(aptOf(suite, work), suite)
    } catch (error) {
      problems.push(`${suite}: ${String(error.stderr ?? error.message).trim()}`)
    }
  }
  throw new Error(problems.join('\n'))
}

function aptOf(suite, work) {
  const sources = join(work, 'sources.list')
  writeFileSync(sources, `deb [signed-by=${KEYRING}] ${debianMirror()} ${suite} main\n`)
  const settings = {
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State': join(work, 'state'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': join(work, 'cache'),
    'APT::Sandbox::User': '',
    'APT::Architecture': 'amd64',
    'Acquire::Languages': 'none',
    'Acquire::http::Timeout': '30',
    'Acquire::Retries': '3',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  const apt = (tool, ...words) =>
    execFileSync(findTool(tool), [...options, '-q', ...words], {
      cwd: work,
      encoding: 'utf8',
      timeout: DOWNLOAD_TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  apt('apt-get', 'update')
  return apt
}

/** The mirror that this machine uses already. AETHER_DEBIAN_MIRROR names another. */
function debianMirror() {
  if (process.env.AETHER_DEBIAN_MIRROR) return process.env.AETHER_DEBIAN_MIRROR
  const used = execFileSync(findTool('apt-get'), [
    ...['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages'],
  ])
  const mirror = String(used)
    .split('\n')
    .find((uri) => /\/debian\/?$/.test(uri))
  if (mirror !== undefined) return mirror
  throw new Error('apt on this machine has no Debian mirror; name one: AETHER_DEBIAN_MIRROR=http://HOST/debian')
}
