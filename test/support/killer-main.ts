/**
 * Kills another process after a while, of which it tells beforehand.
 *
 *     node killer-main.js PID MILLISECONDS
 */
import process from 'node:process'

const [pid, ms] = process.argv.slice(2).map(Number) as [number, number]
setTimeout(() => process.kill(pid, 'SIGKILL'), ms)
process.send!('soon')
process.disconnect()
