import type { ObservationReferenceRange, Quantity } from '@medplum/fhirtypes';
import type { Subject } from '../pipelines/artifacts/subject.ts';
import { weeksAndDays } from '../pipelines/obstetric/charts/dates.ts';
import { chartEntry } from '../pipelines/result/concepts.ts';
import type { Measurement } from '../pipelines/result/envelope.ts';

/**
 * The range a value was compared with. The text names the chart and, where the scan was dated, the
 * gestational age; it stands alone when the chart gives no limits (invariant obs-3).
 */
export function referenceRange(
  reference: NonNullable<Measurement['reference']>,
  quantity: (value: number) => Quantity,
  dating: Subject['dating'],
): ObservationReferenceRange[] {
  const chart = chartEntry(reference.chart);
  const name = chart ? `${chart.name}; ${chart.citation}` : reference.chart;
  return [
    {
      low: reference.low === null ? undefined : quantity(reference.low),
      high: reference.high === null ? undefined : quantity(reference.high),
      text: dating ? `${name}; at ${weeksAndDays(dating.gaDays)} weeks by ${dating.basis}` : name,
    },
  ];
}
