import type { OnEvent } from '../metrics/counted-logger.ts';
import type { Span } from './span.ts';
import { spanIdOf, traceOfStudy } from './trace-context.ts';

/** The oldest associations, which mostly brought nothing, are forgotten beyond so many. */
const MOST_REMEMBERED = 10_000;

/**
 * The spans of associations, from the log events that begin and end them: one in the trace of each
 * study that the association brought objects of.
 */
export function associationSpans(
  ratio: number,
  onSpan: (span: Span) => void,
  now: () => number = () => Date.now() / 1000,
): OnEvent {
  const accepted = new Map<string, number>();
  return (event, { association, studies, end, callingAeTitle }) => {
    if (typeof association !== 'string') return;
    if (event === 'association_accepted') {
      accepted.set(association, now());
      const [oldest] = accepted.keys();
      if (accepted.size > MOST_REMEMBERED && oldest) accepted.delete(oldest);
    }
    if (event === 'association_studies' && Array.isArray(studies)) {
      const start = accepted.get(association);
      accepted.delete(association);
      if (start === undefined) return;
      for (const { study, revision } of studies as { study: string; revision: number }[]) {
        const { traceId, spanId, sampled } = traceOfStudy(study, revision, ratio);
        if (!sampled) continue;
        onSpan({
          traceId,
          spanId: spanIdOf('association', `${association} ${study}`),
          parentSpanId: spanId,
          name: 'association',
          kind: 'server',
          start,
          end: now(),
          attributes: {
            'sonogate.association': association,
            'sonogate.end': String(end),
            ...(typeof callingAeTitle === 'string' && { 'dicom.calling_ae_title': callingAeTitle }),
          },
          error: null,
        });
      }
    }
  };
}
