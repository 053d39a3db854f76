// The shapes of the service's answers.
import type { Data, JsonValue } from '../db/fields.ts';

export interface Meta {
  request_id: string;
  api_version: string;
  timestamp: string;
}

export interface ErrorDetail {
  path?: string;
  message: string;
  code?: string;
}

export interface ApiErrorBody {
  code: string;
  message: string;
  details: ErrorDetail[];
}

export interface PageInfo {
  has_next_page: boolean;
  end_cursor: string | null;
}

export interface BatchItem {
  index: number;
  status: 'created' | 'error';
  data?: Data;
  error?: { code: string; message: string; details?: ErrorDetail[] };
}

/** Every answer of the service; `none` stands for a response without a body (204). */
export type Envelope =
  | { object: 'success'; data: JsonValue; meta: Meta }
  | { object: 'list'; data: Data[]; page_info: PageInfo; meta: Meta }
  | {
      object: 'batch';
      data: { items: BatchItem[]; summary: { total: number; succeeded: number; failed: number } };
      meta: Meta;
    }
  | { object: 'error'; error: ApiErrorBody; meta: Meta }
  | { object: 'none' };
