/**
 * What the second of two guests runs: starts programs for the tests on the first. A connection that ends takes its
 * programs with it.
 */
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { type Program, startProgram } from './program.ts'
import { REMOTE_PORT, type RemoteCommand, type RemoteReport } from './remote-host.ts'

function serve(socket: Socket): void {
  const programs = new Map<number, Program>()
  const report = (line: RemoteReport): void => {
    if (socket.writable) socket.write(`${JSON.stringify(line)}\n`)
  }
  // Of both an error is told: 'close' follows.
  socket.on('error', () => {})
  createInterface({ input: socket })
    .on('error', () => {})
    .on('line', (line) => {
      const command: RemoteCommand = JSON.parse(line)
      if ('signal' in command) programs.get(command.id)?.kill(command.signal)
      else programs.set(command.id, start(command.id, command.start, report))
    })
  socket.on('close', () => {
    for (const program of programs.values()) program.kill('SIGKILL')
  })
}

function start(id: number, words: readonly string[], report: (line: RemoteReport) => void): Program {
  const [command = 'true', ...rest] = words
  const program = startProgram(command, ...rest)
  const take = program.take.bind(program)
  program.take = (output) => {
    take(output)
    report({ id, output })
  }
  void program.ended.then(({ status }) => report({ id, status }))
  return program
}

createServer(serve).listen(REMOTE_PORT, process.env['AETHER_RDMA_ADDRESS'])
