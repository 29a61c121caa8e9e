/** A file that is not read; the message is the sentence that the result shows. */
export class Refusal extends Error {
  override name = 'Refusal';
}
