/** Stands in for ssh between the two guests: `login HOST COMMAND`. Host `here` is this guest, `there` the other one. */
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { REMOTE_ADDRESS } from './remote-host.ts'

const LOGIN_PORT = 7001
const [host = '', command = ''] = process.argv.slice(2)

if (host === 'here') {
  const shell = spawn('/bin/sh', ['-c', command], { stdio: 'inherit' })
  shell.once('exit', (code, signal) => process.exit(code ?? (signal === null ? 0 : 255)))
} else {
  const socket = connect({ host: REMOTE_ADDRESS, port: LOGIN_PORT })
  socket.write(`${command}\n`)
  process.stdin.pipe(socket)
  socket.pipe(process.stdout)
  socket.once('error', (error) => {
    process.stderr.write(`login: ${error.message}\n`)
    process.exit(255)
  })
}
