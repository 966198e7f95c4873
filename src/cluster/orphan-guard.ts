import { type ChildProcess, spawn } from 'node:child_process'

/**
 * Reads the process groups to watch over. If its input ends without `done`, the launcher was killed, and it kills them.
 * It is a shell, which takes one megabyte; node would take forty. It must survive us, so it has a session of its own,
 * and ignores the signals of a terminal.
 */
const PROGRAM = `
trap '' INT TERM HUP
groups=''
while IFS=' ' read -r verb group; do
  case "$verb" in
    add) groups="$groups $group" ;;
    remove) kept=''; for known in $groups; do [ "$known" = "$group" ] || kept="$kept $known"; done; groups="$kept" ;;
    done) exit 0 ;;
  esac
done
for group in $groups; do kill -KILL -"$group" 2>/dev/null; done
`

/** Ensures that process groups do not outlive this process, even if it is killed with SIGKILL. */
export class OrphanGuard {
  readonly #shell: ChildProcess

  constructor() {
    this.#shell = spawn('/bin/sh', ['-c', PROGRAM], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    this.#shell.unref()
    // Without the guard only our own violent end is not covered, which does not justify an error.
    this.#shell.on('error', () => {})
    this.#shell.stdin?.on('error', () => {})
  }

  add(group: number): void {
    this.#say(`add ${group}`)
  }

  remove(group: number): void {
    this.#say(`remove ${group}`)
  }

  /** Nothing is left to guard. */
  close(): void {
    this.#say('done')
    this.#shell.stdin?.end()
  }

  #say(line: string): void {
    this.#shell.stdin?.write(`${line}\n`)
  }
}
