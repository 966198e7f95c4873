/**
 * Stands in for sshd on the second guest: the first line of a connection is a command line, which a shell runs with the
 * connection as its input and output. A connection that ends is the end of the command's input, as with sshd.
 */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'

const LOGIN_PORT = 7001

createServer({ allowHalfOpen: true }, (socket) => {
  socket.on('error', () => socket.destroy())
  socket.once('readable', () => {
    const [line, rest] = splitLine(socket.read() as Buffer)
    socket.unshift(rest)
    const shell = spawn('/bin/sh', ['-c', line], { stdio: ['pipe', 'pipe', 'inherit'] })
    shell.stdin.on('error', () => {})
    socket.pipe(shell.stdin)
    shell.stdout.pipe(socket)
    shell.once('exit', () => socket.end())
  })
}).listen(LOGIN_PORT, process.env['AETHER_RDMA_ADDRESS'], () => console.log('login is open'))

function splitLine(bytes: Buffer): [string, Buffer] {
  const at = bytes.indexOf('\n')
  return [bytes.toString('utf8', 0, at), bytes.subarray(at + 1)]
}
