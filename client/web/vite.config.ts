import {fileURLToPath} from 'node:url';
import {defineConfig} from 'vite';

const folder = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// SINEW_PAGE names the folder to build into.
export default defineConfig({
  resolve: {alias: {'@proto': folder('./generated/sinew/v1')}},
  build: {
    outDir: process.env.SINEW_PAGE ?? 'dist',
    emptyOutDir: true,
    modulePreload: {polyfill: false},
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1024,
  },
});
