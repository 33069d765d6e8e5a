/** The page of an integrator: only the widget, with the options of the test (`globalThis.options`) and tokens of its own back end. */
import { CarbonConnect } from 'carbon-connect';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';

const { customer, ...options } = globalThis.options;
globalThis.callbacks = [];

const tokenFetcher = async () => (await fetch(`/token?${new URLSearchParams({ customer })}`)).json();
const report = (data) => globalThis.callbacks.push(data);

function Page() {
  const [open, setOpen] = useState(true);
  return (
    <CarbonConnect
      orgName="Harbour"
      brandIcon="/brand.svg"
      tokenFetcher={tokenFetcher}
      onSuccess={report}
      onError={report}
      open={open}
      setOpen={setOpen}
      {...options}
    />
  );
}

createRoot(document.getElementById('root')).render(<Page />);
