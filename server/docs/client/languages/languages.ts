// The languages in which a request is shown, in the order of their tabs.
import type { SampleWriter } from '../request.ts';
import { crmCommand } from './crm.ts';
import { curlLine } from './curl.ts';
import { python } from './python.ts';
import { typeScript } from './typescript.ts';

export const LANGUAGES: Readonly<Record<string, SampleWriter>> = {
  curl: curlLine,
  crm: crmCommand,
  TypeScript: typeScript,
  Python: python,
};
