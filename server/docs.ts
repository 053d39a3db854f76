import { swagger } from '@elysiajs/swagger';
export function docs() {
  return swagger({ path: '/docs', specPath: '/docs/json' });
}
