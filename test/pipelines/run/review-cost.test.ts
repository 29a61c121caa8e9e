import { describe, expect, it } from 'vitest';
import * as echo from '../../../pipelines/echo/review.ts';
import * as obstetric from '../../../pipelines/obstetric/review.ts';
import type { Effect } from '../../../pipelines/result/decisions.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { effectsOf } from '../../../pipelines/run/review-effects.ts';
import type { EndpointRules } from '../../../pipelines/run/review-rules.ts';
import { evidenceText, parseEvidence } from '../../../pipelines/run/stored-evidence.ts';
import { outlinedHeart } from '../echo/reviewed-heart.ts';
import { reviewedStudy } from '../obstetric/reviewed-study.ts';

/**
 * A reader waits at most 300 ms for the result of a change, which test/bench/review.ts measures.
 * Here the time is compared with that of parsing a fixed text, so that the speed of the machine does
 * not matter. To run a model or to decode a cine would take much longer.
 */
const MOST_TIMES = 4;
const TEXT = JSON.stringify(Array.from({ length: 200_000 }, (_, n) => ({ n, half: n / 2 })));
const ROUNDS = 6;

const AT = new Date('2026-01-01T00:00:00Z');

interface Study {
  interpret(effects: readonly Effect[]): Result;
  rules: EndpointRules;
}

/** Opens the stored evidence, as a review does. Decoding one of its frames throws. */
const opened = <Evidence>(evidence: Evidence) => parseEvidence<Evidence>(evidenceText(evidence));

function heart(): Study {
  const evidence = opened(outlinedHeart());
  return {
    interpret: (effects) => echo.interpretReviewed(evidence, effects, AT),
    rules: echo.reviewRules(evidence),
  };
}

function fetus(): Study {
  const evidence = opened(reviewedStudy());
  return {
    interpret: (effects) => obstetric.interpretReviewed(evidence, effects, AT),
    rules: obstetric.reviewRules(evidence),
  };
}

function shortest(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const begin = performance.now();
    work();
    return performance.now() - begin;
  });
  return Math.min(...times);
}

describe('the result of a change', () => {
  it.each([
    ['heart', heart()],
    ['fetus', fetus()],
  ])('of a %s needs no pixels and little time', (_, { interpret, rules }) => {
    const original = interpret([]);
    const one = original.measurements.find(({ standing }) => standing === 'counts');
    if (!one) throw new Error('the study has no value');
    const value = one.value * 0.95;
    const change = { kind: 'set-value' as const, measurement: one.id, value };
    const effects = effectsOf(change, { original, result: original, effects: [] }, rules);
    const changed = interpret(effects);
    expect(changed.measurements.find(({ id }) => id === one.id)?.value).toBe(value);
    const changing = shortest(() => interpret(effects));
    const parsing = shortest(() => JSON.parse(TEXT));
    expect(changing / parsing).toBeLessThan(MOST_TIMES);
  });
});
