import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { wordless } from './wordless.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  root: here('.'),
  plugins: [react(), tailwindcss(), wordless()],
  resolve: { alias: { 'node:timers/promises': here('src/timers.ts') } },
  build: {
    outDir: here('dist'),
    emptyOutDir: true,
    // Nothing is written into the page as `data:`; the policy of the page allows its own files only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
  server: { proxy: { '/api': 'http://127.0.0.1:3000' } },
})
