/** Lists the running spaces of this user, as their files in the runtime directory name them, in sh. */
export const SPACES_IN_SHELL: string =
  'ls "$' + '{AETHER_RUNTIME_DIRECTORY:-/tmp/aether-$(id -u)}/spaces" 2>/dev/null | sed "s/-[0-9]*$//"'

/** The names under which the command line is started. */
export const COMMAND_NAMES: readonly string[] = ['aether', 'aether-dsm']

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
