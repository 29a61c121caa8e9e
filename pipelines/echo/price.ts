/** Prices in USD as decimal strings, by frames of the upload (service.md 1). */
export const ECHO_PRICE_TIERS = [
  { up_to_frames: 1000, price: '0.06' },
  { up_to_frames: 8000, price: '0.15' },
  { up_to_frames: null, price: '0.25' },
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
  const tier =
    ECHO_PRICE_TIERS.find(({ up_to_frames: most }) => most === null || frames <= most) ??
    ECHO_PRICE_TIERS[2];
  return [line(id, tier.price), ...(withReport ? [line('report', REPORT_PRICE)] : [])];
}
