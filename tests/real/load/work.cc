// SPDX-License-Identifier: Apache-2.0
// For compilers that are to have work, and as a program that throws.
#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

static int thrower(int n)
{
	if (n == 0)
		throw std::runtime_error("end");
	return thrower(n - 1) + 1;
}

int main()
{
	std::regex pattern("([0-9]+)7");

	for (;;) {
		std::map<std::string, int> words;
		std::vector<int> numbers;

		for (int i = 0; i < 2000; i++) {
			words[std::to_string(i * 7919 % 10007)] = i;
			numbers.push_back(i * 7919 % 10007);
			try {
				thrower(i % 20);
			} catch (const std::exception &) {
			}
		}
		std::sort(numbers.begin(), numbers.end());
		for (auto &word : words)
			std::regex_match(word.first, pattern);
	}
}
