import { render } from "preact";
import { App } from "./app.tsx";

const page = document.querySelector("#page");
if (page !== null) render(<App />, page);
