import { describe, expect, it } from 'vitest';
import {
  estimateEta,
  laterStage,
  pipelineProgress,
  STAGES,
} from '../../../../src/core/requests/transitions.ts';

describe('progress', () => {
  it('of a pipeline is between starting and storing, whatever the pipeline reports', () => {
    expect(pipelineProgress(0)).toBe(STAGES.starting.progress);
    expect(pipelineProgress(1)).toBe(STAGES.uploading.progress);
    expect(pipelineProgress(-3)).toBe(STAGES.starting.progress);
    expect(pipelineProgress(7)).toBe(STAGES.uploading.progress);
  });

  it('never goes back when a stage is entered late', () => {
    const current = { name: 'inference.head', label: 'Head', progress: 0.5, eta_s: null };
    const next = { name: 'inference.femur', label: 'Femur', progress: 0.3, eta_s: 4 };
    expect(laterStage(current, next)).toEqual({ ...next, progress: 0.5 });
  });

  it('is the same stage if nothing but the time left differs', () => {
    const current = { name: 'reporting', label: 'Report', progress: 0.9, eta_s: 3 };
    expect(laterStage(current, { ...current, eta_s: 2 })).toBe(current);
  });
});

describe('time left', () => {
  it('is unknown at the first run of an endpoint until a fifth is done', () => {
    expect(estimateEta(0.1, 5, null)).toBeNull();
    expect(estimateEta(0.2, 5, null)).toBe(20);
  });

  it('comes from earlier runs until then', () => {
    expect(estimateEta(0.1, 5, 30)).toBe(25);
  });

  it('is unknown if the run takes longer than earlier ones and has hardly begun', () => {
    expect(estimateEta(0.1, 31, 30)).toBeNull();
  });

  it('is zero at the end', () => {
    expect(estimateEta(1, 100, 30)).toBe(0);
  });
});
