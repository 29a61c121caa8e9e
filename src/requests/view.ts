import type { Problem } from '../errors/problem.ts';
import type { EndpointInput } from './endpoint.ts';
import type { Priority, RequestStatus } from './port.ts';
import type { Cost, Stage } from './row.ts';

/** The request object of the HTTP contract; every field is always there. */
export interface RequestObject {
  id: string;
  object: 'request';
  model: string;
  endpoint: string;
  version: string;
  status: RequestStatus;
  stage: Stage;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  expires_at: string | null;
  key: string | null;
  test: boolean;
  priority: Priority;
  metadata: Record<string, string>;
  /** Left out of list items. */
  input?: EndpointInput | null;
  webhook: { url: string; events: string[] } | null;
  source: { kind: 'api' | 'queue' | 'dicom' };
  cost: Cost;
  error: Problem | null;
  /** Only when succeeded; left out of list items. */
  output?: unknown;
  urls: { self: string; events: string; cancel: string };
}
