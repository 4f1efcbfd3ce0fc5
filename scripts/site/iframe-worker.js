// Search runs in a worker, and browsers start none for a page that is read from disk. There, a hidden frame does its
// work: it gets the three functions that the scope of a worker has and that of a page lacks.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const base = new URL(url, location.href);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const scope = (this.scope = frame.contentWindow);
      const load = (source) =>
        new Promise((done, failed) => {
          const script = scope.document.createElement("script");
          Object.assign(script, { src: new URL(source, base), onload: done, onerror: failed });
          scope.document.body.append(script);
        });
      scope.postMessage = (data) => this.answer(data);
      scope.importScripts = async (...sources) => {
        for (const source of sources) await load(source);
      };
      this.started = load(base);
    }
    postMessage(data) {
      this.started.then(() => this.scope.dispatchEvent(new MessageEvent("message", { data })));
    }
    answer(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }
  };
}
