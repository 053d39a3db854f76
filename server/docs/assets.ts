// The script and the style sheet of the page, as sent to the browser.
import { clientScript } from './client-script.ts' with { type: 'macro' };
import base from './style/base.css' with { type: 'text' };
import fields from './style/fields.css' with { type: 'text' };
import layout from './style/layout.css' with { type: 'text' };
import operations from './style/operations.css' with { type: 'text' };
import samples from './style/samples.css' with { type: 'text' };
import trial from './style/trial.css' with { type: 'text' };

export const SCRIPT: string = await clientScript();
export const STYLE = [base, layout, operations, samples, fields, trial].join('\n');
