import type { Result } from '../result/envelope.ts';

/** What documents say of an examination that differs between the endpoints. */
const EXAMINATIONS = {
  'us/obstetric': { title: 'Obstetric ultrasound report' },
  'us/echo': { title: 'Echocardiography report' },
} as const;

type Model = keyof typeof EXAMINATIONS;

function modelOf({ endpoint }: Pick<Result, 'endpoint'>): Model {
  return endpoint.startsWith('us/echo') ? 'us/echo' : 'us/obstetric';
}

/** Title of the document for people. */
export const reportTitle = (result: Pick<Result, 'endpoint'>) =>
  EXAMINATIONS[modelOf(result)].title;

/** Whether a gestational age and growth belong to it. */
export const isObstetric = (result: Pick<Result, 'endpoint'>) => modelOf(result) === 'us/obstetric';
