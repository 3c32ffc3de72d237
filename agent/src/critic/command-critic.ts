import type { Critic } from './critic.ts'

const mostOutput = 4_000

/** Satisfied when a command (the tests, say) ends with code 0; else the end of its output is the complaint. */
export const commandCritic = ({ command, timeoutMs }: { command: string; timeoutMs: number }): Critic => ({
  kind: 'CommandCritic',
  async judge(scene, signal) {
    const { code, output } = await scene.run(command, timeoutMs, signal)
    if (code === 0) return { score: 1, message: null }
    const how = code === null ? `did not end within ${timeoutMs / 1000} s` : `ended with code ${code}`
    return { score: 0, message: `\`${command}\` ${how}:\n${output.slice(-mostOutput)}` }
  },
})
