/** Prices in USD as decimal strings, by frames of the upload (service.md 1). */
const TIERS = [
  { upTo: 1000, price: '0.06' },
  { upTo: 8000, price: '0.15' },
  { upTo: Number.POSITIVE_INFINITY, price: '0.25' },
] as const;

const REPORT_PRICE = '0.02';

const line = (item: string, price: string) => ({
  item,
  quantity: 1,
  unit_price: price,
  amount: price,
});

/** Price lines of a run over so many frames, and of the report where it is asked for. */
export function echoPrice(id: string, frames: number, withReport: boolean) {
  const tier = TIERS.find(({ upTo }) => frames <= upTo) ?? TIERS[2];
  return [line(id, tier.price), ...(withReport ? [line('report', REPORT_PRICE)] : [])];
}
