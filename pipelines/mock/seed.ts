import { createHash } from 'node:crypto';
import type { Job } from '../contract/job.ts';

/** Numbers that depend only on the job, so the same input gives the same result. */
export interface Seed {
  /** An id of 26 letters and digits. */
  id: string;
  /** Returns the nth number, between 0 and 1. */
  share(n: number): number;
}

export function seedOf(job: Job): Seed {
  const { endpoint, version, files, priorFiles, options, clinicalContext, mock } = job;
  const digest = createHash('sha256')
    .update(JSON.stringify([endpoint, version, files, priorFiles, options, clinicalContext, mock]))
    .digest();
  return {
    id: digest.toString('hex').slice(0, 26),
    share: (n) => (digest[n % digest.length] ?? 0) / 255,
  };
}
